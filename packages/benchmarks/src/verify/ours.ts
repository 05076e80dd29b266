import { verify as ours } from '@call-webhooks/core';
import { SECRET } from '../sending/schemes.ts';
import type { Verify } from './signed-message.ts';

/** Our `verify`, whole: headers, timestamp, HMAC, compare, and the promise that it gives. */
const OPTIONS = { secret: SECRET };
export const verify: Verify = (message) => ours(message, OPTIONS);
