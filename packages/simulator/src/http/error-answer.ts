import { SearchSyntaxError } from '@call-webhooks/client';
import { SimulatorError, type SimulatorErrorCode } from '../simulator-error.ts';

/** An error response. The spec does not show the service's. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: {
    readonly error: { readonly code: string; readonly message: string; readonly position?: number };
  };
}

const STATUS: Readonly<Record<SimulatorErrorCode, number>> = {
  'invalid-input': 400,
  'external-target': 400,
  'not-found': 404,
  conflict: 409,
  'bad-snapshot': 500,
  'db-in-use': 500,
};

export const errorAnswer = (status: number, code: string, message: string): ErrorAnswer => ({
  status,
  body: { error: { code, message } },
});

/** The response to a thrown error. It shows the messages of known errors only. */
export function answerOfError(error: unknown): ErrorAnswer {
  if (error instanceof SimulatorError)
    return errorAnswer(STATUS[error.code], error.code, error.message);
  if (error instanceof SearchSyntaxError) {
    const { position, reason, message } = error;
    const told = { code: 'invalid-search', reason, message };
    return { status: 400, body: { error: position === undefined ? told : { ...told, position } } };
  }
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return errorAnswer(status, 'bad-request', (error as Error).message);
  return errorAnswer(500, 'internal', 'The simulator failed. This is a bug.');
}
