import type { IncomingMessage } from 'node:http';
import { verify, WebhookError, type VerifyOptions } from '@call-webhooks/core';
import { diagnose } from '../verifying/diagnose.ts';

/** How deliveries are told from forgeries. */
export interface Authentication {
  /** Read anew for every delivery, so that a rotated secret in a file is known at once. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly headerPrefix?: string | undefined;
  readonly toleranceSeconds: number;
}

/** Whether a delivery is authentic, and if not, why. */
export type Authentic =
  | { readonly verified: true; readonly webhookId: string }
  | { readonly verified: false; readonly error: WebhookError; readonly cause: string | undefined };

/** @throws what a wrong secret or header prefix throws: that is the user's to mend */
export async function authenticate(
  { headers }: IncomingMessage,
  body: Uint8Array,
  { secrets, headerPrefix, toleranceSeconds }: Authentication,
): Promise<Authentic> {
  const asked: VerifyOptions = { secret: [...(await secrets())], headerPrefix, toleranceSeconds };
  try {
    const { webhookId } = await verify({ headers, body }, asked);
    return { verified: true, webhookId };
  } catch (error) {
    if (!(error instanceof WebhookError) || error.code.startsWith('invalid')) throw error;
    const mismatch = error.code === 'signature-mismatch';
    const cause = mismatch ? await diagnose({ headers, body }, asked) : undefined;
    return { verified: false, error, cause };
  }
}
