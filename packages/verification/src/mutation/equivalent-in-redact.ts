import { FASTER } from './reasons.ts';

const STANDARD = 'what is none of the other ways is the standard one';

/** The changes of core's redaction that do no harm, as `EQUIVALENT` has them. */
export const IN_REDACT = {
  'packages/core/src/redact/error-text.ts': {
    '\'standard\' → ""': STANDARD,
  },
  'packages/core/src/redact/patterns.ts': {
    '\'\' → "Stryker was here!"': 'only an @ is looked for in what is left',
  },
  'packages/core/src/redact/redactor.ts': {
    '\'standard\' → ""': STANDARD,
    "values === 'unread' → true": FASTER,
    "typeof clean === 'string' → true":
      'what is no text cannot be put on one line, and is withheld',
  },
  'packages/core/src/redact/strict.ts': {
    'found.size > MAX_VALUES → false': FASTER,
    '/^([a-z_]\\w*)?$/ → /^([a-z_]\\w*)$/': 'an empty text is left out at the end',
  },
};
