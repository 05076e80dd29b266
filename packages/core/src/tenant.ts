/** The longest name of a tenant, in UTF-16 units. */
const MAX_LENGTH = 128;
/** Control characters, invisible ones, line breaks, and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Whether a tenant may have this name: 1 to 128 printable characters. */
export const isTenantName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= MAX_LENGTH && !UNPRINTABLE.test(name);

/**
 * A key, group or webhook id as stores and queues know it: that of a tenant begins with its name. Two
 * tenants never share one, whatever their names and keys are.
 * @example tenantKey('acme', 'c1:call:started') // 'tenant:acme:c1:call:started'
 */
export function tenantKey(tenant: string | undefined, key: string): string {
  if (tenant === undefined) return key;
  // The second colon ends the name.
  const name = /[%:]/.test(tenant) ? tenant.replace(/[%:]/g, encodeURIComponent) : tenant;
  return `tenant:${name}:${key}`;
}
