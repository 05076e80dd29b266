import {
  ApiError,
  ConfigurationError,
  NetworkError,
  SearchSyntaxError,
  UnconfirmedWriteError,
  type ClientError,
} from '@call-webhooks/client';
import { CliError } from '../cli-error.ts';
import { EXIT } from '../exit.ts';
import { BASE_URL_VARIABLE } from './connect.ts';

/** What the service itself says is wrong; the spec shows no shape, ours and common ones are read. */
function serviceMessage({ body }: ApiError): string | undefined {
  const { error, message } = (typeof body === 'object' ? (body ?? {}) : {}) as {
    error?: { message?: unknown };
    message?: unknown;
  };
  const said = (error as { message?: unknown } | undefined)?.message ?? message;
  return typeof said === 'string' ? said : undefined;
}

const FIXES: Partial<Record<ApiError['code'], string>> = {
  unauthorized: 'Check the token: CALL_WEBHOOKS_API_TOKEN, --api-token-file or --api-token.',
  forbidden: 'This token may not do that.',
  'not-found': 'Check the id, and that the base URL has no /v1 at its end.',
  'rate-limited': 'Wait a little, and try again.',
};

const UNREACHED = `Check where the service is: ${BASE_URL_VARIABLE}, or --base-url.`;

/** An error of the client as the command line tells it. */
export function restError(error: ClientError): CliError {
  if (error instanceof ApiError) {
    const said = serviceMessage(error);
    const message = said === undefined ? error.message : `${error.message}: ${said}`;
    const bad = error.status >= 400 && error.status < 500 && error.status !== 429;
    return new CliError(bad ? EXIT.badInput : EXIT.environment, message, FIXES[error.code]);
  }
  if (error instanceof SearchSyntaxError || error instanceof ConfigurationError)
    return new CliError(EXIT.badInput, error.message);
  const why = error instanceof UnconfirmedWriteError ? undefined : deepest(error);
  return new CliError(
    EXIT.environment,
    why === undefined ? error.message : `${error.message} (${why})`,
    error instanceof NetworkError && !error.maybeSent ? UNREACHED : undefined,
  );
}

/** The code, or else the message, of the last of an error's causes: `ECONNREFUSED` says most. */
function deepest(error: Error): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  return deepest(cause) ?? (cause as { code?: string }).code ?? cause.message;
}
