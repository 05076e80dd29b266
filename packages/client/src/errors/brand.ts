const nativeHasInstance = Function.prototype[Symbol.hasInstance];

/**
 * Makes `instanceof` agree between two copies of this package (its ESM and its CJS build, or two
 * installed versions): a registered symbol on the prototype decides, not the identity of the class.
 * Classes that extend a branded one without a brand of their own keep the native test.
 */
export function brand(constructor: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`@call-webhooks/client/${name}`);
  Object.defineProperty(constructor.prototype, mark, { value: true });
  // On the prototype, so that minified bundles still print the real name.
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
