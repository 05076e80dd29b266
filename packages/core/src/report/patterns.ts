const NAME = String.raw`(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_ ]?key|credential|signature|cookie)\\?["']?\s{0,3}[=:]\s{0,3}\\?`;
const PHONE = String.raw`(?:phone|mobile|\btel|msisdn|\bfax|\bsms|whatsapp|\bdial(?:l?ed|l?ing)?)(?:[ _-]?number)?`;
const QUOTE = String.raw`\\?["']?\s{0,2}[:=.]?\s{0,2}\\?["'(<]?`;
const DATE_OR_HOST = String.raw`\d{4}-\d\d-\d\d|\d{1,3}(?:\.\d{1,3}){3}(?!\d)|1[4-9]\d{11}(?!\d)`;
const LOCAL = String.raw`[\p{L}\p{N}\p{M}._%+-]`;
/** Between the digits of a phone number. */
export const GAP = String.raw`[\s()./\u2010-\u2015-]{0,3}`;

/**
 * What its form, or the word in front of it, shows to be a secret, an e-mail address or a phone number.
 *
 * Each pattern starts at a place that it cannot find again within its own match, or has a bounded length:
 * one that starts anew at each letter of a long run would take quadratic time.
 */
export const PATTERNS: readonly RegExp[] = [
  // Stripe, OpenAI, GitHub, GitLab, npm, Slack, AWS, Google, SendGrid
  /whsec_[\w+/=-]+|(?<![A-Za-z\d])(?:[rs]k_(?:live|test)_[\w*]{4,}|sk-[\w-]{16,}|(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[a-z]-)[\w-]{8,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|SG\.[\w-]{10,}\.[\w-]{10,})/g,
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, // JSON Web Tokens
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  // What follows `password=` or `"apiToken":`. In quotes, it may have spaces.
  new RegExp(String.raw`(?<=${NAME}(["']))(?:\\.|(?!\1)[^\\\r\n]){1,500}(?=\1)`, 'gi'),
  new RegExp(String.raw`(?<=${NAME}["']?)(?:v1,)?(?:[^\s"'&,;\\]|\\(?!["']))+`, 'gi'),
  /(?<=\bauthorization["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;]+(?:\s[^\s"',;]+)?/gi,
  // A word in small letters is no token: `Basic authentication`, `Bearer realm="api"`.
  /(?<=\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)\s{1,3})(?![a-z]+(?:[^\w/+-]|$))[^\s"',;]+/g,
  // The credentials of a URL: on the web in front of the path, elsewhere up to the last @.
  /(?<=\b(?:https?|wss?):\/\/)[^\s"'<>/?#]{1,1000}(?=@)/gi,
  /(?<=\b(?!(?:https?|wss?):)[a-z][a-z\d+.-]{0,20}:\/\/)[^\s"'<>/][^\s"'<>]{0,1000}(?=@)/gi,
  // An e-mail address. What stands in front of the host of a URL, is none.
  new RegExp(
    String.raw`(?<!${LOCAL}|[\p{L}\p{N}]['’]|:\/\/[^\s/?#]{0,100})${LOCAL}+(?:['’]${LOCAL}+)*@(?:[\p{L}\p{N}\p{M}-]+\.)+\p{L}{2,}`,
    'gu',
  ),
  // A phone number: +1 (555) 010-4477, `phone: 15550104477`, and a longer one after "number" or "call".
  new RegExp(String.raw`(?<![\w+])\+\d(?:${GAP}\d){6,14}(?!\d)`, 'g'),
  new RegExp(
    String.raw`(?=\d)(?<=${PHONE}${QUOTE})(?!${DATE_OR_HOST})\d(?:${GAP}\d){6,14}(?!\w)`,
    'gi',
  ),
  new RegExp(
    String.raw`(?=\d)(?<=\b(?:number|call(?:ed|ing)?)${QUOTE})(?!${DATE_OR_HOST})\d{10,15}(?!\w)`,
    'gi',
  ),
];
