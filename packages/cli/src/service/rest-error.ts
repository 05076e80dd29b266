import {
  ApiError,
  ConfigurationError,
  NetworkError,
  SearchSyntaxError,
  UnconfirmedWriteError,
  type ClientError,
} from '@call-webhooks/client';
import { CliError, EXIT } from '../errors.ts';
import { BASE_URL_VARIABLE, TOKEN_VARIABLE } from './client.ts';

/** The service's own message. The spec shows no error body; ours and common ones are understood. */
function serviceMessage({ body }: ApiError): string | undefined {
  const { error, message } = (typeof body === 'object' ? (body ?? {}) : {}) as {
    error?: { message?: unknown };
    message?: unknown;
  };
  const found = (error as { message?: unknown } | undefined)?.message ?? message;
  return typeof found === 'string' ? found : undefined;
}

const FIXES: Partial<Record<ApiError['code'], string>> = {
  unauthorized: `Check the API token: ${TOKEN_VARIABLE}, --api-token-file or --api-token.`,
  forbidden: 'This API token has no permission for this. Use another one.',
  'not-found': 'Check the id, and that the base URL does not end with /v1.',
  'rate-limited': 'Wait a moment and try again.',
};
const RETRY = 'Try again. If it keeps failing, ask the provider of the service.';
const CHECK_COMMAND = 'Check what you passed. For all options, add --help to the command.';

const CHECK_URL = `Check the service's URL: ${BASE_URL_VARIABLE} or --base-url.`;

/** Converts an error of the client. */
export function restError(error: ClientError): CliError {
  if (error instanceof ApiError) {
    const detail = serviceMessage(error);
    const message = detail === undefined ? error.message : `${error.message}: ${detail}`;
    const isInput = error.status >= 400 && error.status < 500 && error.status !== 429;
    return new CliError(
      isInput ? EXIT.badInput : EXIT.environment,
      message,
      FIXES[error.code] ?? (isInput ? CHECK_COMMAND : RETRY),
    );
  }
  if (error instanceof SearchSyntaxError)
    return new CliError(
      EXIT.badInput,
      error.message,
      'Correct the search. For its flags: call-webhooks events --help',
    );
  if (error instanceof ConfigurationError)
    return new CliError(
      EXIT.badInput,
      error.message,
      /^baseUrl/.test(error.message) ? CHECK_URL : CHECK_COMMAND,
    );
  const cause = error instanceof UnconfirmedWriteError ? undefined : deepestCause(error);
  const [, setting] = /\bwire\.(\w+)/.exec(error.message) ?? [];
  return new CliError(
    EXIT.environment,
    cause === undefined ? error.message : `${error.message} (${cause})`,
    setting === undefined
      ? error instanceof NetworkError && !error.maybeSent
        ? CHECK_URL
        : RETRY
      : `Pass --wire ${setting}=NAME. To find the name: call-webhooks infer FILE`,
  );
}

/** The code or message of the innermost cause: `ECONNREFUSED` says the most. */
function deepestCause(error: Error): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  return deepestCause(cause) ?? (cause as { code?: string }).code ?? cause.message;
}
