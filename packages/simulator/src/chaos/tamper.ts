/**
 * The body with one digit changed: still JSON where it was, and not what was signed.
 * @param fraction 0 to 1, drawn from the seed: which of its digits
 */
export function tamper(body: string, fraction: number): string {
  const digits = [...body.matchAll(/[1-9]/g)];
  const digit = digits[Math.floor(fraction * digits.length)];
  if (!digit) return `${body} `;
  const other = digit[0] === '9' ? '1' : String(Number(digit[0]) + 1);
  return body.slice(0, digit.index) + other + body.slice(digit.index + 1);
}
