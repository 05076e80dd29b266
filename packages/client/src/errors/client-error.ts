import { brand } from './brand.ts';

/**
 * What every error of this package extends. `code` is stable: branch on it or on the class, never
 * on the message. No error holds the API token, a signing secret in a printed property, or the
 * query of a URL (a search may name people).
 */
export abstract class ClientError extends Error {
  static {
    brand(this, 'ClientError');
  }

  /** Stable, for machines. Each class documents its own values. */
  abstract readonly code: string;
}

/** Defines a property that `util.inspect`, `JSON.stringify` and spread do not show. */
export function hide(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false });
}
