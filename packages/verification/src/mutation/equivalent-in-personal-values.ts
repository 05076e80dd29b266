import { FASTER } from './reasons.ts';

const SHORT_PART = 'a part that is shorter is never compared with one that is not';

/** The changes of core's search for personal values that do no harm, as `EQUIVALENT` has them. */
export const IN_PERSONAL_VALUES = {
  'packages/core/src/redact/find-values.ts': {
    'numbers.size === 0 → false': FASTER,
    'start > lastEnd → true': FASTER,
    'start > lastEnd → start >= lastEnd': FASTER,
    'start >= kept → true': 'of two marks in a row, redactValues makes one',
  },
  'packages/core/src/redact/ids.ts': {
    'id.length <= MAX_LENGTH && WORDS.test(id) && !SUSPICIOUS.test(id) → false': FASTER,
    'id.length <= MAX_LENGTH → id.length < MAX_LENGTH': FASTER,
  },
  'packages/core/src/redact/personal-values.ts': {
    '\'\' → "Stryker was here!"': 'any name will do that says nothing of a value',
    '\'unknown\' → ""': 'it is only asked whether it is one of the others',
    '[] → ["Stryker was here"]': 'a word has no spaces',
    '\' \' → ""': 'an address ends at a separator',
    '/[^\\p{L}\\p{N}]+/u → /[^\\p{L}\\p{N}]/u': 'an empty word is in no list',
  },
  'packages/core/src/redact/quotes.ts': {
    'values.length === 0 → false': FASTER,
    'searched.length - partLength → searched.length + partLength': SHORT_PART,
    'value.length - partLength → value.length + partLength': SHORT_PART,
    'parts.has(partAt(value, at)) → true': 'a part that the text does not have is not found in it',
  },
};
