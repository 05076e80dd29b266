/**
 * Cursors that no list gave: garbage, damaged ones, numbers that no database has, and what a caller
 * without types may pass.
 * @param cursor one that the list gave
 */
export const badCursors = (cursor: string): string[] => [
  '',
  ' ',
  '.',
  'nonsense',
  'NaN',
  'null',
  'undefined',
  '-1',
  '1e3',
  '0x10',
  '9'.repeat(20),
  '9'.repeat(5_000),
  `${'9'.repeat(30)}-0`,
  '99999999999999999999-1',
  // One millisecond after the last time that a Date can have.
  `${(8.64e15 + 1).toString(36)}.0123456789abcdef01234567`,
  'zzzzzzzzzzz.0123456789abcdef01234567',
  '-zzzzzzzzzzz.0123456789abcdef01234567',
  'k.%00',
  'k.\0',
  'k.%',
  '\ud800',
  '\u{1f4de}',
  '１２',
  "1'; DROP TABLE events; --",
  '../../etc/passwd',
  ` ${cursor}`,
  `${cursor}\n`,
  `${cursor}\0`,
  ...([NaN, 7, -1, null, true, {}, [cursor], Symbol('cursor')] as unknown[] as string[]),
];
