/** The version of this package, as the default user agent names it. */
export const version = '0.1.0';
