import { verify, type HeadersLike, type VerifyOptions } from '@call-webhooks/core';

/** What people and programs do to a body on its way, and how to undo it. */
const SUSPECTS: readonly (readonly [what: string, undo: (body: Buffer) => Buffer | undefined])[] = [
  [
    'the body has a line feed at its end that was not signed (echo, an editor)',
    (body) => (body.at(-1) === 0x0a ? body.subarray(0, body.at(-2) === 0x0d ? -2 : -1) : undefined),
  ],
  [
    'the line feed at the end of the body was cut off',
    (body) => Buffer.concat([body, Buffer.from('\n')]),
  ],
  [
    'a byte order mark was put before the body',
    (body) => (body.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? body.subarray(3) : undefined),
  ],
  [
    'the body was parsed and written anew with spaces: use the raw bytes',
    (body) => rewritten(body, (value) => JSON.stringify(value)),
  ],
  [
    'the body was parsed and written anew without its spaces: use the raw bytes',
    (body) => rewritten(body, (value) => JSON.stringify(value, undefined, 2)),
  ],
  [
    'the line ends of the body were changed to CR LF',
    (body) => Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
  ],
];

function rewritten(body: Buffer, write: (value: unknown) => string): Buffer | undefined {
  try {
    return Buffer.from(write(JSON.parse(body.toString('utf8'))));
  } catch {
    return undefined;
  }
}

/** Why a signature does not match, when undoing one of the usual mishaps makes it match. */
export async function diagnose(
  { headers, body }: { headers: HeadersLike; body: Uint8Array },
  options: VerifyOptions,
): Promise<string | undefined> {
  const bytes = Buffer.from(body);
  for (const [what, undo] of SUSPECTS) {
    const before = undo(bytes);
    if (!before || before.equals(bytes)) continue;
    const fits = await verify({ headers, body: before }, options).then(
      () => true,
      () => false,
    );
    if (fits) return what;
  }
  return undefined;
}
