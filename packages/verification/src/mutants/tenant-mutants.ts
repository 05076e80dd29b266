import { core, MODEL, test, type Mutant } from './mutant.ts';

/** Bugs in what keeps the tenants of one endpoint apart. */
export const TENANT_MUTANTS: readonly Mutant[] = [
  {
    name: 'the tenant dropped from the key',
    harm: "one workspace's call is taken for a duplicate of another one's, and is lost",
    edits: [
      {
        file: core('dispatch/routes.ts'),
        from: '{ ...route, key: tenantKey(tenant, route.key) }',
        to: '{ ...route, key: tenantKey(undefined, route.key) }',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'one tenant in the keys of all',
    harm: 'the same, where the keys look right',
    edits: [
      {
        file: core('dispatch/routes.ts'),
        from: '{ ...route, key: tenantKey(tenant, route.key) }',
        to: "{ ...route, key: tenantKey(tenant && 'a', route.key) }",
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'the tenant dropped from the webhook id',
    harm: "a workspace can have another one's deliveries refused as replays",
    edits: [
      {
        file: core('receiver/claim.ts'),
        from: 'tenantKey(tenant, signed)',
        to: 'tenantKey(undefined, signed)',
      },
    ],
    killedBy: test('receiver/tenants.test.ts'),
  },
  {
    name: 'a colon in the name of a tenant',
    harm: 'the keys of two tenants can be made to collide',
    edits: [
      {
        file: core('tenant.ts'),
        from: 'const name = /[%:]/.test(tenant) ?',
        to: 'const name = /[%]/.test(tenant) ?',
      },
    ],
    killedBy: test('tenant.test.ts'),
  },
];
