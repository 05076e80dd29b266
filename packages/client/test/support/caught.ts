import { inspect } from 'node:util';

/** The error that a promise rejects with. */
export async function caught(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('it did not reject');
}

/** Everything that printing an error could show, its causes included, also what is not enumerable. */
export function everyPrint(error: unknown): string {
  const json = JSON.stringify(error, Object.getOwnPropertyNames(Object(error)));
  const stack = error instanceof Error ? `${error.stack} ${String(error)}` : '';
  return `${inspect(error, { depth: 10, showHidden: true })} ${json} ${stack}`;
}
