import { redactId } from '@call-webhooks/core/internal';
import type { DeadLetterBody } from '../api-types.ts';
import { indentJson } from './indent-json.ts';

/** The longest text that is sent; characters. */
const MAX_TEXT = 256 * 1024;
const MAX_DEPTH = 50;
const MAX_VALUE = 100;
const MASK = '•••';
const FIELD_NAME = /^[A-Za-z_][\w-]{0,63}$/;
/** They identify events, not people. */
const PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);
/** Fields of ids, times and states: `workspaceId`, `created_at`, `status`. */
const SHOWN_FIELD =
  /(?:^|_)(?:ids?|at|date|time(?:stamp)?|seconds|status|state|type|direction)$|(?:Ids?|At|Date|Time(?:stamp)?|Seconds|Status|State|Type|Direction)$/;

/** The body of a dead letter as it is. */
export function wholeBody(rawBody: Uint8Array): DeadLetterBody {
  const text = textOf(rawBody);
  return { masked: false, ...shown(text, parsed(text) !== undefined), bytes: rawBody.length };
}

/**
 * The body of a dead letter without personal data. Only ids, times and states are shown: fields whose
 * names say so, and whose values look so. What is no JSON is not shown at all.
 */
export function maskedBody(rawBody: Uint8Array): DeadLetterBody {
  const json = parsed(textOf(rawBody));
  const { length: bytes } = rawBody;
  if (json === undefined)
    return { masked: true, text: null, isJson: false, bytes, truncated: false };
  const text = JSON.stringify(masked(json.value, '', 0));
  return { masked: true, ...shown(text, true), bytes };
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function shown(text: string, isJson: boolean) {
  const whole = isJson ? indentJson(text, MAX_TEXT + 1) : text;
  return { text: whole.slice(0, MAX_TEXT), isJson, truncated: whole.length > MAX_TEXT };
}

function masked(value: unknown, field: string, depth: number): unknown {
  if (typeof value === 'boolean' || value === null) return value;
  if (depth > MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((inner) => masked(inner, field, depth + 1));
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([name, inner]) => [
      FIELD_NAME.test(name) && redactId(name) === name ? name : MASK,
      masked(inner, name, depth + 1),
    ]);
    return Object.fromEntries(entries) as unknown;
  }
  if (!PLAIN_FIELDS.has(field) && !SHOWN_FIELD.test(field)) return MASK;
  return typeof value === 'number' || isPlain(value as string) ? value : MASK;
}

/** A URL may hold a token or a name. */
const isPlain = (text: string) =>
  text.length <= MAX_VALUE && /^[\w:.+-]*$/.test(text) && redactId(text) === text;
