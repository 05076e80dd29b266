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
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream());
  return read(connection, events);
}

async function* read(
  { signal, url }: Connection,
  events: ReadableStream<{ event?: string | undefined; data: string }>,
): AsyncGenerator<Changes> {
  try {
    for await (const { event, data } of events)
      if (event === 'changes') yield JSON.parse(data) as Changes;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SyntaxError) throw error;
  }
  signal.throwIfAborted();
  throw environment(`The simulator at ${url} has stopped.`);
}
