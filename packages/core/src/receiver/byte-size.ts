const UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

/** The bytes of `'1mb'`, `'512kb'` or a number, or `undefined` if it is no size. */
export function byteSize(size: unknown): number | undefined {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size > 0 ? size : undefined;
  if (typeof size !== 'string') return undefined;
  const match = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i.exec(size);
  if (!match) return undefined;
  const bytes = Math.floor(Number(match[1]) * UNITS[match[2]?.toLowerCase() as keyof typeof UNITS]);
  return bytes > 0 ? bytes : undefined;
}
