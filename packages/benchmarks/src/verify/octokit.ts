import { verify as octokit } from '@octokit/webhooks-methods';
import { SECRET } from '../sending/schemes.ts';
import type { Verify } from './signed-message.ts';

/** Over the body alone; it has no timestamp, and takes the body as a text. */
export const verify: Verify = ({ headers, body }) =>
  octokit(SECRET, body.toString(), headers['x-hub-signature-256'] as string);
