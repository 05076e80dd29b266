/** Formats of the values that a call event may hold. All of them are plain tests of one value. */

/** An ISO 8601 date and time, such as `2026-01-31T09:30:00.000Z`. */
export function isDateTime(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

/** Epoch milliseconds of the years 2001 to 2103. */
export function isEpochMs(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1e12 && Number(value) < 4.2e12;
}

/** An email address. */
export function isEmail(value: unknown): value is string {
  return typeof value === 'string' && /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]+$/.test(value);
}

/** A telephone number of 7 to 15 digits. Digits alone may as well be an id: see `isPlainDigits`. */
export function isPhoneNumber(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\+?[\d\s().\-/]+$/.test(value)) return false;
  const digits = value.replace(/\D/g, '').length;
  return digits >= 7 && digits <= 15 && !/^\d{4}-\d\d-\d\d/.test(value);
}

/** Digits and nothing else: a telephone number, or an id. */
export function isPlainDigits(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

/** Words without digits: a person's name, but also a status such as `no answer`. */
export function isWords(value: unknown): value is string {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{M}\p{Zs}.,'’-]*$/u.test(value);
}

/** Two words or more, the first with a capital where its script has capitals. */
export function isFullName(value: unknown): boolean {
  return isWords(value) && /^\P{Ll}.*\p{Zs}+\p{L}/u.test(value);
}

/** A text that can name a user: not a date, a telephone number with a plus sign, or a URL. */
export function canNameUser(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 200 || isDateTime(value)) return false;
  if (isPhoneNumber(value) && !isPlainDigits(value)) return false;
  return !/^[a-z][a-z\d+.-]*:\/\//i.test(value);
}

/** One word without capitals or digits, such as `outbound`: more likely a status than a user's id. */
export function isStatusWord(value: unknown): boolean {
  return (
    typeof value === 'string' && /^(?:\p{Ll}+|\p{Lu}+)(?:[ _-](?:\p{Ll}+|\p{Lu}+))*$/u.test(value)
  );
}
