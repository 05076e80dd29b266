const nativeHasInstance = Function.prototype[Symbol.hasInstance];

/**
 * Makes `instanceof` work across two copies of this package (ESM and CJS, or two versions): a
 * registered symbol on the prototype decides, not the identity of the class. A subclass without a
 * brand of its own keeps the native test.
 */
export function brand(constructor: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`@call-webhooks/client/${name}`);
  Object.defineProperty(constructor.prototype, mark, { value: true });
  // Set here so that minified bundles still print the real name.
  Object.defineProperty(constructor.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  Object.defineProperty(constructor, Symbol.hasInstance, {
    configurable: true,
    value(this: unknown, value: unknown): boolean {
      if (this !== constructor) return nativeHasInstance.call(this as () => void, value);
      return typeof value === 'object' && value !== null && Reflect.get(value, mark) === true;
    },
  });
}

/** Defines a property that `util.inspect`, `JSON.stringify` and spread do not show. */
export function hide(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: false });
}

/**
 * The base class of every error in this package. Branch on the class or on `code`, never on the
 * message: both are stable. No error prints the API token, a signing secret, or the query of a URL,
 * which may name people.
 */
export abstract class ClientError extends Error {
  static {
    brand(this, 'ClientError');
  }

  /** A stable code. Each class documents its own values. */
  abstract readonly code: string;
}
