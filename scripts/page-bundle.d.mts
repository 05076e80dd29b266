/**
 * The files of a page, by name, as its sources are now. index.html names the others by their hashed names.
 */
export function filesOf(page: 'console' | 'simulator'): Promise<[name: string, text: string][]>;
export const TYPES: Readonly<Record<string, string>>;
