import { ClientError } from '@call-webhooks/client';
import { OUTCOMES, WebhookError } from '@call-webhooks/core';
import { CONFIGURATION_ERRORS } from '@call-webhooks/core/internal';
import { CliError, EXIT } from './errors.ts';
import { restError } from './service/rest-error.ts';

/** Converts an error of our libraries. @returns undefined for any other */
export function libraryError(error: unknown): CliError | undefined {
  if (error instanceof ClientError) return restError(error);
  // A secret, a header prefix or a timestamp from the command line that core refuses.
  if (error instanceof WebhookError) {
    const { fix } = { ...OUTCOMES, ...CONFIGURATION_ERRORS }[error.code];
    return new CliError(EXIT.badInput, error.message, fix);
  }
  return undefined;
}
