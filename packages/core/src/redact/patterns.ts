import { isOrdinaryWord } from './ordinary-words.ts';

/*
 * Every pattern starts at a place that it cannot find again within its own match, or has a bounded
 * length. A pattern that starts anew at each letter of a long run would take quadratic time.
 */

/** Between the digits of a phone number. */
const GAP = '[ ().\\u00a0\\u2010-\\u2015-]';

/** Tokens that show what they are. */
const TOKENS = [
  /\bwhsec_[A-Za-z0-9+/=_-]+/g,
  /\b[rs]k_(?:live|test)_[\w*]{4,}/g, // Stripe
  /\bsk-[\w-]{16,}/g, // OpenAI, Anthropic
  /\b(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[a-z]-)[\w-]{8,}/g, // GitHub, GitLab, npm, Slack
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, // AWS
  /\bAIza[\w-]{30,}/g, // Google
  /\bSG\.[\w-]{10,}\.[\w-]{10,}/g, // SendGrid
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, // JSON Web Tokens
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
];

const URL = /\b([a-z][a-z0-9+.-]{0,20}):\/\/([^\s"'<>]+)/gi;

/** The value after a name such as `password=` or `"apiToken":`, and after `Bearer`. */
const NAME = String.raw`(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_ ]?key|credential|signature|cookie)["']?\s{0,3}[=:]\s{0,3}`;
const NAMED_SECRETS = [
  // In quotes, it may have spaces.
  new RegExp(String.raw`(?<=${NAME}")(?:[^"\\\r\n]|\\.){1,500}(?=")`, 'gi'),
  new RegExp(String.raw`(?<=${NAME}')(?:[^'\\\r\n]|\\.){1,500}(?=')`, 'gi'),
  new RegExp(String.raw`(?<=${NAME}["']?)(?!["'])(?:v1,)?[^\s"'&,;]+`, 'gi'),
  /(?<=\bauthorization["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;]+(?:\s[^\s"',;]+)?/gi,
  /(?<=\b(?:bearer|basic)\s{1,3})[^\s"',;]+/gi,
];

const LOCAL = '[\\p{L}\\p{N}\\p{M}._%+-]';
const EMAIL = new RegExp(
  `(?<!${LOCAL}|[\\p{L}\\p{N}]['’])${LOCAL}+(?:['’]${LOCAL}+)*@(?:[\\p{L}\\p{N}\\p{M}-]+\\.)+\\p{L}{2,}`,
  'gu',
);

/** The start of a number in its own right: not the rest of an id, a decimal, a path or an address. */
const START = '(?<![\\w.:/+-])';
const END = '(?![\\w]|[.:/-]\\w)';

const PHONES = [
  // +15550104477, +1 (555) 010-4477
  new RegExp(`(?<![\\w+])\\+(?:\\d{7,15}|\\d{1,4}(?:${GAP}{1,2}\\d{1,8}){1,6})(?!\\d)`, 'g'),
  // (555) 010-4477
  new RegExp(`(?<!\\w)\\(0?\\d{2,5}\\) ?\\d{2,5}(?:[ .-]\\d{2,5}){1,3}${END}`, 'g'),
  // 555-010-4477, 1 555 010 4477
  new RegExp(`${START}(?:1[ .-])?\\d{3}([ .\\u2010-\\u2015-])\\d{3}\\1\\d{4}${END}`, 'g'),
  // 0171 5550123, 0555/010/4477, 030-555 01 23
  new RegExp(`${START}0[1-9]\\d{1,4}[ /-]\\d{2,8}(?:[ /-]\\d{2,8}){0,3}${END}`, 'g'),
  // phone: 15550104477
  /(?<=\b(?:phone|mobile|telephone|tel|msisdn|fax|sms|whatsapp|dial(?:l?ed|l?ing)?)(?:[ _-]?number)?["']?\s{0,2}[:=]?\s{0,2}["'(<]?)\d[\d ().-]{5,17}\d(?!\w)/gi,
  // number 15550104477, call 15550104477
  /(?<=\b(?:number|call(?:ed|ing)?)["']?\s{0,2}[:=]?\s{0,2}["'(<]?)\d{10,15}(?!\w)/gi,
];

/** Removes secrets, e-mail addresses and phone numbers, as far as their form shows what they are. */
export function redactPatterns(text: string): string {
  let clean = text.replace(URL, withoutCredentials);
  for (const pattern of TOKENS) clean = clean.replace(pattern, '[redacted]');
  for (const pattern of NAMED_SECRETS)
    clean = clean.replace(pattern, (value) => (isOrdinary(value) ? value : '[redacted]'));
  clean = clean.replace(EMAIL, '[redacted]');
  for (const pattern of PHONES)
    clean = clean.replace(pattern, (number) => (isPhoneNumber(number) ? '[redacted]' : number));
  return clean;
}

/**
 * Source files in stack traces, up to the last @: `file:///app/node_modules/@`. They name no host, and have
 * no colon (apart from that of a drive) in front of which a user could stand, so there is no password.
 */
const SOURCE_FILE = /^(?:file|webpack|webpack-internal|turbopack):\/\/\/(?:[a-z]:\/)?[^:]*$/i;

/** A password may have an @ or a / in it. In a URL of http, an @ behind the host is part of the path. */
function withoutCredentials(url: string, scheme: string, rest: string): string {
  const isWeb = /^(?:https?|wss?)$/i.test(scheme);
  const end = (isWeb ? rest.replace(/[/?#].*/s, '') : rest).lastIndexOf('@');
  const isSourceFile = SOURCE_FILE.test(url.slice(0, url.lastIndexOf('@')));
  return end === -1 || isSourceFile ? url : `${scheme}://[redacted]${rest.slice(end)}`;
}

/** `token: expired`, `token: invalid_grant`, `token: TypeError` and `token: }` name no token. */
const isOrdinary = (value: string) =>
  value.split(/[ _]/).every((word) => {
    const letters = word.replace(/^\W+|\W+$/g, '');
    return /^$|(?:Error|Exception)$|^E[A-Z]{3,}$/.test(letters) || isOrdinaryWord(letters);
  });

const DATE = /^\d{4}-\d\d-\d\d|^\d{1,4}([./-])\d{1,2}\1\d{1,4}$/;
const IP_ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const EPOCH_MS = /^1[4-9]\d{11}$/;

function isPhoneNumber(text: string): boolean {
  const digits = text.replace(/\D/g, '').length;
  return digits >= 7 && digits <= 15 && ![DATE, IP_ADDRESS, EPOCH_MS].some((no) => no.test(text));
}
