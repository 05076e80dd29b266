/** The changes of the adapters that do no harm, as `EQUIVALENT` has them. */
export const IN_ADAPTERS = {
  'packages/fastify/src/index.ts': {
    '\'/\' → ""': 'a slash at the end of the path is removed',
  },
  'packages/fastify/src/mount.ts': {
    '!request.raw.complete → true': 'discardRest looks at it again',
  },
  'packages/hono/src/index.ts': {
    '{ return undefined; } → {}': 'a function without a return gives undefined as well',
  },
  'packages/koa/src/index.ts': {
    '!req.complete → true': 'discardRest looks at it again',
  },
  'packages/lambda/src/event.ts': {
    '\'/\' → ""': 'core reads an empty path as the root',
    '\'utf8\' → ""': 'it is the default of Buffer.from',
    'name.toLowerCase() → name.toUpperCase()': 'core finds a header by a name in any case',
  },
  'packages/lambda/src/index.ts': {
    '[] → ["Stryker was here"]': 'what is no promise has ended, so it is not waited for',
  },
  'packages/lambda/src/late-work.ts': {
    'work.length === 0 → false': 'no work has ended at once, and nothing is logged',
  },
  'packages/lambda/src/response.ts': {
    '\'\' → "Stryker was here!"': 'every status of an outcome has a text',
  },
};
