import { withOrigin } from '../outcome/origin.ts';
import { WebhookError } from '../outcome/webhook-error.ts';

const MAX_DEPTH = 64;
// Fatal: invalid UTF-8 is refused. A BOM is kept, so that JSON.parse refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the body of an authentic delivery: JSON in UTF-8.
 * @throws WebhookError `invalid-payload`
 */
export function parsePayload(body: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new WebhookError('invalid-payload', 'The body is not valid UTF-8.');
  }
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch (error) {
    // The parser's own message would quote the body.
    const failure = new WebhookError('invalid-payload', 'The body is not valid JSON.');
    throw withOrigin(failure, { source: 'schema', error, isWithheld: true });
  }
  // Each level takes a bracket, so a text with few brackets is not checked any further.
  if (hasMoreBrackets(text, MAX_DEPTH) && isDeeperThan(payload, MAX_DEPTH)) {
    throw new WebhookError(
      'invalid-payload',
      `The body is nested more than ${String(MAX_DEPTH)} levels deep.`,
    );
  }
  return payload;
}

function hasMoreBrackets(text: string, levels: number): boolean {
  let left = levels;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (left-- === 0) return true;
  }
  return false;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof inner === 'object' && isDeeperThan(inner, levels - 1)) return true;
  }
  return false;
}

/** Whether a parsed body is an object with fields. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
