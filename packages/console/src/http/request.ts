import * as z from 'zod/mini';
import { RequestError } from './answer.ts';

/** What `authorize` decides on. */
export interface ConsoleRequest<Raw = unknown> {
  readonly method: string;
  /** Below the mount, as it was sent; `'/'` for the page. */
  readonly path: string;
  readonly headers: Headers;
  /**
   * The request of the framework: that of Express, of Fastify, or fetch's `Request`. Sessions and users
   * of other middleware are on it.
   */
  readonly raw: Raw;
}

/** A request as every mount passes it on. */
export interface MountedRequest extends ConsoleRequest {
  readonly query: URLSearchParams;
  /** The path in the browser's address, to find out where relative URLs lead. */
  readonly documentPath: string;
  /**
   * Reads the JSON body.
   * @throws RequestError if it is too large, too slow, or no JSON
   */
  body(): Promise<unknown>;
}

/** The most that a body may have; bytes. */
export const MAX_BODY = 128 * 1024;

/** Splits the URL of a request as it was sent: nothing is decoded or resolved. */
export function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const [beforeHash = ''] = url.split('#', 1);
  const at = beforeHash.indexOf('?');
  if (at < 0) return { path: beforeHash, query: new URLSearchParams() };
  return { path: beforeHash.slice(0, at), query: new URLSearchParams(beforeHash.slice(at)) };
}

/**
 * The path below the mount.
 * @param mount such as `'/ops/webhooks'`, without a slash at its end
 * @returns `undefined` if the path is elsewhere
 */
export function pathBelow(mount: string, path: string): string | undefined {
  if (path === mount) return '/';
  return path.startsWith(`${mount}/`) ? path.slice(mount.length) : undefined;
}

export const invalid = (problem: string) =>
  new RequestError('invalid-request', `The request cannot be used: ${problem}.`);

const MAX_TEXT = 300;
/** The last millisecond that a `Date` can have. */
const END_OF_TIME = 8.64e15;

const isWithin = (value: unknown, min: number, max: number) =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
const expectedNumber = (min: number, max: number) =>
  `expected a whole number from ${min} to ${max}`;

/** The rules for what is in a query or a body. Their messages hold nothing of the request. */
export const rule = {
  text: (max = MAX_TEXT) =>
    z.string('expected a text').check(z.maxLength(max, `it has more than ${max} characters`)),
  number: (min: number, max: number) =>
    z.custom<number>((value) => isWithin(value, min, max), expectedNumber(min, max)),
  /** Milliseconds since the epoch. */
  time: () => rule.number(0, END_OF_TIME),
  oneOf: <const Text extends string>(texts: readonly Text[]) =>
    z.enum(texts as readonly [Text, ...Text[]], `expected one of ${texts.join(', ')}`),
  /** A number in a query. */
  digits: (min: number, max = END_OF_TIME) =>
    z.pipe(
      z
        .string()
        .check(
          z.refine(
            (text) => /^\d{1,16}$/.test(text) && isWithin(Number(text), min, max),
            expectedNumber(min, max),
          ),
        ),
      z.transform(Number),
    ),
};

/** @throws RequestError `invalid-request` for what does not follow the rules, or has no rule */
export function checked<Shape extends z.core.$ZodShape>(
  shape: Shape,
  given: unknown,
): z.output<z.ZodMiniObject<Shape>> {
  const names = Object.keys(shape).join(', ');
  const only = names === '' ? 'it takes no parameters' : `expected only ${names}`;
  const result = z.safeParse(z.strictObject(shape), given, {
    error: ({ code }) => (code === 'unrecognized_keys' ? only : 'expected a JSON object'),
  });
  if (result.success) return result.data;
  const [{ path, message } = { path: [], message: '' }] = result.error.issues;
  throw invalid(path.length > 0 ? `${String(path[0])}: ${message}` : message);
}

/**
 * The parameters of a query, each at most once. Those without a value are left out.
 * @throws RequestError `invalid-request`
 */
export function queryOf<Shape extends z.core.$ZodShape>(shape: Shape, query: URLSearchParams) {
  const given = [...query].filter(([, value]) => value !== '');
  const repeated = Object.keys(shape).find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined) throw invalid(`${repeated}: it is repeated`);
  return checked(shape, Object.fromEntries(given));
}
