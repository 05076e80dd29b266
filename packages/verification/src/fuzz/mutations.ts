import { anyCharacter } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import type { FuzzRequest } from './signed-requests.ts';

/** One change to a request. */
export type Mutation = (request: FuzzRequest) => void;

const SIGNATURE_HEADERS = ['x-service-webhook-id', 'x-service-timestamp', 'x-service-signature'];
const header = fc.constantFrom(
  ...SIGNATURE_HEADERS,
  'content-encoding',
  'content-length',
  'content-type',
);
const anyText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'v1,',
    'v2,',
    'null',
    '__proto__',
    '٣',
    '\u0000',
    'gzip',
    'identity',
  ),
  fc.nat().map((length) => 'A'.repeat(length % 5_000)),
);
const anyWhere = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const first = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value[0] : value) ?? '';

/** Changes a text at one position. */
const edit = fc
  .tuple(anyWhere, fc.constantFrom('flip', 'drop', 'double', 'insert', 'cut'), anyText)
  .map(([where, how, inserted]) => (text: string): string => {
    const at = Math.floor(where * text.length);
    const [before, here, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
    switch (how) {
      case 'flip':
        return before + String.fromCharCode((here.charCodeAt(0) || 0) ^ 1) + after;
      case 'drop':
        return before + after;
      case 'double':
        return before + here + here + after;
      case 'insert':
        return before + inserted + here + after;
      default:
        return before;
    }
  });

const headerMutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(header, edit).map(([name, change]) => ({ headers }: FuzzRequest) => {
    headers[name] = change(first(headers[name]));
  }),
  fc.tuple(header, anyText).map(([name, text]) => ({ headers }: FuzzRequest) => {
    headers[name] = text;
  }),
  fc
    .tuple(header, fc.array(anyText, { maxLength: 3 }))
    .map(([name, more]) => ({ headers }: FuzzRequest) => {
      headers[name] = [first(headers[name]), ...more];
    }),
  header.map((name) => ({ headers }: FuzzRequest) => {
    headers[name] = undefined;
  }),
  header.map((name) => ({ headers }: FuzzRequest) => {
    headers[name.toUpperCase()] = headers[name]; // the same header in two spellings
  }),
  fc.tuple(header, header).map(([one, other]) => ({ headers }: FuzzRequest) => {
    [headers[one], headers[other]] = [headers[other], headers[one]];
  }),
);

const bodyMutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(anyWhere, fc.nat(255)).map(([where, byte]) => (request: FuzzRequest) => {
    request.body = Buffer.from(request.body);
    if (request.body.length > 0) request.body[Math.floor(where * request.body.length)] = byte;
  }),
  anyWhere.map((where) => (request: FuzzRequest) => {
    request.body = request.body.subarray(0, Math.floor(where * request.body.length));
  }),
  fc.uint8Array({ maxLength: 50 }).map((more) => (request: FuzzRequest) => {
    request.body = Buffer.concat([request.body, more]);
  }),
);

const methodMutation: fc.Arbitrary<Mutation> = fc
  .constantFrom('GET', 'PUT', 'post', 'POST ', '', 'DELETE', 'PROPFIND')
  .map((method) => (request: FuzzRequest) => {
    request.method = method;
  });

/** The changes to one request: none, one or several. */
export const mutationLists: fc.Arbitrary<Mutation[]> = fc.array(
  fc.oneof(
    { arbitrary: headerMutation, weight: 6 },
    { arbitrary: bodyMutation, weight: 3 },
    { arbitrary: methodMutation, weight: 1 },
  ),
  { maxLength: 3 },
);
