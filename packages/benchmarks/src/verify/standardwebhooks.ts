import { Webhook } from 'standardwebhooks';
import { SECRET } from '../sending/schemes.ts';
import type { Verify } from './signed-message.ts';

const webhook = new Webhook(SECRET);

/** As its guide has it; like svix it parses the body as well. */
export const verify: Verify = ({ headers, body }) => webhook.verify(body, headers);
