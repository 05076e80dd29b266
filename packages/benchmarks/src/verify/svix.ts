import { Webhook } from 'svix';
import { SECRET } from '../sending/schemes.ts';
import type { Verify } from './signed-message.ts';

const webhook = new Webhook(SECRET);

/** It parses the body as well, and can't be told not to. */
export const verify: Verify = ({ headers, body }) => webhook.verify(body, headers);
