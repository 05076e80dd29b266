import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { describeError } from '../privacy/scrub.ts';
import { settleAtTurnEnd } from '../time/turn.ts';
import { Watch } from '../time/watch.ts';
import { tooLarge, tooSlow, type BodyLimits } from './body.ts';

/** For all bodies that are being read in this process: a timer for each would cost more than the reading. */
const watch = new Watch();

/**
 * The bytes of a request that nobody has read yet. A body that came in one piece is not copied.
 * @throws WebhookError `body-too-large`, `body-timeout`; the stream is paused then
 */
export function readStream(
  request: IncomingMessage,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  if (request.destroyed) return Promise.reject(gone());
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let length = 0;
    const wait = {
      at: performance.now() + bodyTimeout,
      wake() {
        fail(tooSlow(`bodyTimeout, ${String(bodyTimeout)} ms, is over`));
      },
    };
    const fail = (error: Error) => {
      watch.delete(wait);
      request.off('data', onData).off('end', onEnd).pause();
      chunks = []; // the rest may come for a while yet
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > bodyLimit) fail(tooLarge(bodyLimit));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      watch.delete(wait);
      const [only] = chunks;
      const body = only && chunks.length === 1 ? only : Buffer.concat(chunks, length);
      settleAtTurnEnd(resolve, body);
    };
    watch.add(wait);
    request
      .on('data', onData)
      .on('end', onEnd)
      .on('error', (error) => {
        fail(tooSlow(describeError(error)));
      })
      .on('close', () => {
        if (!request.readableEnded) fail(gone());
      });
  });
}

const gone = () => tooSlow('the connection was closed');
