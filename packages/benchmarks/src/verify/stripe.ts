import Stripe from 'stripe';
import { SECRET } from '../sending/schemes.ts';
import type { Verify } from './signed-message.ts';

const { webhooks } = new Stripe('sk_test_none');

/** The signature alone, without parsing. */
export const verify: Verify = ({ headers, body }) =>
  webhooks.signature?.verifyHeader(body, headers['stripe-signature'] as string, SECRET);
