import { EventSourceParserStream } from 'eventsource-parser/stream';
import { environment } from '../cli-error.ts';
import type { Connection } from './connection.ts';
import type { Changes } from './views.ts';

/**
 * What changes in a simulator, as it happens. Listening begins before the first value is asked for.
 * @throws CliError 3 when the simulator goes away; the signal's reason when it is aborted
 */
export async function changesOf(connection: Connection): Promise<AsyncIterable<Changes>> {
  const events = (await connection.stream())
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  return read(connection, events);
}

async function* read(
  { signal, url }: Connection,
  events: ReadableStream<{ event?: string | undefined; data: string }>,
): AsyncGenerator<Changes> {
  const reader = events.getReader();
  // The signal given to `fetch` is held weakly, and may be forgotten while a body is read.
  const end = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) break;
      if (value.event === 'changes') yield JSON.parse(value.data) as Changes;
    }
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
  signal.throwIfAborted();
  throw environment(
    `The simulator at ${url} has stopped.`,
    'Start it again: call-webhooks simulate --forward-to URL',
  );
}
