import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';

const KEPT_BYTES = 65_536;
/** Real milliseconds. The status line is the answer; a body that never ends must not change it. */
const BODY_PATIENCE_MS = 1_000;

/** The answer of a receiver: its status counts, and of its body a part is kept to be looked at. */
export function readAnswer(response: IncomingMessage): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (whole: boolean) => {
      clearTimeout(timer);
      const bytes = Buffer.concat(chunks);
      resolve({
        kind: 'status',
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: bytes.toString('utf8', 0, Math.min(bytes.length, KEPT_BYTES)),
        truncated: !whole || bytes.length > KEPT_BYTES,
      });
    };
    const timer = setTimeout(finish, BODY_PATIENCE_MS, false);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > KEPT_BYTES) finish(false);
    });
    response.on('end', () => {
      finish(true);
    });
    response.on('error', () => {
      finish(false);
    });
  });
}
