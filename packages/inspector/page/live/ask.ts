/** What the control API refused, or that it could not be reached, in words for people. */
export class AskError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Asks the simulator's control API.
 * @param path below `/_sim`
 * @throws AskError with the message of the answer
 */
export async function ask<Answer>(
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: unknown,
): Promise<Answer> {
  const answer = await reach(method, path, body);
  const told: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return told as Answer;
  const { error } = (told ?? {}) as { error?: { code?: string; message?: string } };
  throw new AskError(
    error?.code ?? String(answer.status),
    error?.message ?? `The simulator answered ${String(answer.status)}.`,
  );
}

async function reach(method: string, path: string, body: unknown): Promise<Response> {
  try {
    return await fetch(`/_sim${path}`, {
      method,
      ...(method !== 'GET' && {
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? '' : JSON.stringify(body),
      }),
    });
  } catch {
    throw new AskError('unreachable', 'The simulator can’t be reached. Is it still running?');
  }
}
