import type { WebhookError } from '@call-webhooks/core';
import { loggedFailure } from '@call-webhooks/core/internal';
import type { Exception } from '@opentelemetry/api';

/** What a step threw, with its class and its causes, redacted as in log lines. */
export function exceptionOf(failure: WebhookError): Exception {
  const { err = failure } = loggedFailure(failure);
  // Without `code`, which would become the type.
  return { name: err.name, message: err.message, stack: stackOf(err) };
}

/** The copy of an error in a log line has no cycles, and few causes. */
function stackOf(error: Error): string {
  const { name, message, stack = `${name}: ${message}`, cause } = error;
  const { errors } = error as { errors?: unknown };
  const parts: unknown[] = Array.isArray(errors) ? errors : [];
  return [
    stack,
    ...parts.filter(isError).map((part) => `one of: ${stackOf(part)}`),
    ...(isError(cause) ? [`caused by: ${stackOf(cause)}`] : []),
  ].join('\n');
}

const isError = (value: unknown): value is Error => value instanceof Error;
