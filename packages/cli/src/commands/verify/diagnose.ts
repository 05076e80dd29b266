import { verify, type VerifyOptions } from '@call-webhooks/core';
import type { HeadersLike } from '@call-webhooks/core/internal';

/** Common changes to a body on its way, and how to undo each. */
const CHANGES: readonly (readonly [what: string, undo: (body: Buffer) => Buffer | undefined])[] = [
  [
    'a line feed was added at the end of the body, for example by echo or an editor',
    (body) => (body.at(-1) === 0x0a ? body.subarray(0, body.at(-2) === 0x0d ? -2 : -1) : undefined),
  ],
  [
    'the line feed at the end of the body was removed',
    (body) => Buffer.concat([body, Buffer.from('\n')]),
  ],
  [
    'a byte order mark was added at the start of the body',
    (body) => (body.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? body.subarray(3) : undefined),
  ],
  [
    'the body was parsed and written again with spaces: use the raw bytes',
    (body) => serializedAgain(body, (value) => JSON.stringify(value)),
  ],
  [
    'the body was parsed and written again without its spaces: use the raw bytes',
    (body) => serializedAgain(body, (value) => JSON.stringify(value, undefined, 2)),
  ],
  [
    'the line endings of the body were changed to CR LF',
    (body) => Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  ],
];

function serializedAgain(body: Buffer, write: (value: unknown) => string): Buffer | undefined {
  try {
    return Buffer.from(write(JSON.parse(body.toString('utf8'))));
  } catch {
    return undefined;
  }
}

/** Finds the change to the body that explains a signature mismatch, if it is a common one. */
export async function diagnose(
  { headers, body }: { headers: HeadersLike; body: Uint8Array },
  options: VerifyOptions,
): Promise<string | undefined> {
  const bytes = Buffer.from(body);
  for (const [what, undo] of CHANGES) {
    const original = undo(bytes);
    if (!original || original.equals(bytes)) continue;
    const matches = await verify({ headers, body: original }, options).then(
      () => true,
      () => false,
    );
    if (matches) return what;
  }
  return undefined;
}
