import { NetworkError } from '../../errors/index.ts';
import { orAbort } from '../../http/abort.ts';
import type { OpenedRecording } from '../opened.ts';
import type { SaveOptions } from './options.ts';
import type { PartFile } from './part-file.ts';

/**
 * Copies a body into the file, from the body's own start on, and checks the size at its end.
 *
 * @param advance called with the number of bytes that the file then has
 * @throws {NetworkError} when the recording is shorter or longer than announced
 */
export async function copy(
  opened: OpenedRecording,
  file: PartFile,
  options: SaveOptions,
  advance: (received: number) => void,
): Promise<number> {
  const { total, start } = opened;
  const reader = opened.body.getReader();
  let received = start;
  const report = async (): Promise<void> => {
    advance(received);
    await orAbort(Promise.resolve(options.onProgress?.({ received, total })), options.signal);
  };
  try {
    await report();
    for (;;) {
      const { done, value } = await orAbort(reader.read(), options.signal);
      if (done) break;
      await file.write(value, received);
      received += value.byteLength;
      await report();
    }
  } catch (error) {
    void reader.cancel(error).catch(() => undefined);
    throw error;
  }
  if (total === undefined || received === total) return received;
  throw new NetworkError(`the recording has ${received} bytes where ${total} were announced`, {
    maybeSent: true,
  });
}
