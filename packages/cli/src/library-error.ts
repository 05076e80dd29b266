import {
  ApiError,
  ClientError,
  ConfigurationError,
  NetworkError,
  SearchSyntaxError,
  UnconfirmedWriteError,
} from '@call-webhooks/client';
import { OUTCOMES, WebhookError } from '@call-webhooks/core';
import { THROWN_ERRORS } from '@call-webhooks/core/internal';
import { CliError, environmentError, EXIT } from './errors.ts';
import { BASE_URL_VARIABLE, TOKEN_VARIABLE } from './service/client.ts';

const FIXES: Partial<Record<ApiError['code'], string>> = {
  unauthorized: `Set the right token: ${TOKEN_VARIABLE}, --api-token-file or --api-token.`,
  forbidden: 'This API token is not allowed to do this. Use another token.',
  'not-found': 'Check that the id is complete, and that the base URL does not end with /v1.',
  'rate-limited': 'Wait a moment and try again.',
};
const RETRY = 'Try again. If it keeps failing, ask the provider of the service.';
const CHECK_COMMAND =
  'Check the values that you passed. For all options, add --help to the command.';
const CHECK_URL = `Check the service's URL: ${BASE_URL_VARIABLE} or --base-url.`;
const CHECK_PROXY = 'Check the proxy, or list the host in NO_PROXY.';

/** Converts an error of the client. */
function restError(error: ClientError): CliError {
  if (error instanceof ApiError && error.code !== 'invalid-response' && error.code !== 'redirect')
    return statusError(error);
  if (error instanceof SearchSyntaxError)
    return new CliError(EXIT.badInput, error.message, 'Correct the search.');
  if (error instanceof ConfigurationError) {
    const fix = /^baseUrl/.test(error.message) ? CHECK_URL : CHECK_COMMAND;
    return new CliError(EXIT.badInput, error.message, fix);
  }
  const cause = error instanceof UnconfirmedWriteError ? undefined : deepestCause(error);
  const message = cause === undefined ? error.message : `${error.message} (${cause})`;
  return new CliError(EXIT.environment, message, fixOf(error));
}

function statusError(error: ApiError): CliError {
  const { code, status, method, path } = error;
  const isInput = status >= 400 && status < 500 && status !== 429;
  const said =
    code === 'unauthorized'
      ? `${method} ${path} responded with status 401: the API token is wrong or missing`
      : error.message;
  const detail = serviceMessage(error);
  return new CliError(
    isInput ? EXIT.badInput : EXIT.environment,
    detail === undefined ? said : `${said}: ${detail}`,
    FIXES[code] ?? (isInput ? CHECK_COMMAND : RETRY),
  );
}

/** The service's own message. The spec shows no error body; ours and common ones are understood. */
function serviceMessage({ body }: ApiError): string | undefined {
  const { error, message } = (typeof body === 'object' ? (body ?? {}) : {}) as {
    error?: { message?: unknown };
    message?: unknown;
  };
  const found = (error as { message?: unknown } | undefined)?.message ?? message;
  return typeof found === 'string' ? found : undefined;
}

function fixOf(error: ClientError): string {
  const { message } = error;
  const [, setting] = /\bwire\.(\w+)/.exec(message) ?? [];
  const [, name = 'NAME'] = /perhaps "([\w.-]+)"/.exec(message) ?? [];
  if (setting !== undefined) return `Pass --wire ${setting}=${name}`;
  if (/_proxy names the proxy/i.test(message)) return CHECK_PROXY;
  return error instanceof NetworkError && !error.maybeSent ? CHECK_URL : RETRY;
}

/** The code or message of the innermost cause: `ECONNREFUSED` says the most. */
function deepestCause(error: Error): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  return deepestCause(cause) ?? (cause as { code?: string }).code ?? cause.message;
}

/** Any error as one for people: those of our libraries, of Node and of files have fixes of their own. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ClientError) return restError(error);
  // A secret, a header prefix or a timestamp from the command line that core refuses.
  if (error instanceof WebhookError) {
    const { fix } = { ...OUTCOMES, ...THROWN_ERRORS }[error.code];
    return new CliError(EXIT.badInput, error.message, fix);
  }
  const message = error instanceof Error ? error.message : String(error);
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && /^E[A-Z]+$/.test(code)
    ? environmentError(message, `Check the file or address in this message (${code}).`)
    : environmentError(`Unexpected error: ${message}`, 'Set DEBUG=1 to see the stack trace.');
}
