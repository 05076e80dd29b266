// Which file may import which. Imports of types count as imports of values do.

/** The layers of core, the highest first. A file imports from its own layer and from lower ones. */
const CORE_LAYERS = [
  ['index', 'stores', 'internal', 'node', 'web'],
  ['lifecycle', 'ready'],
  ['receiver', 'worker/'],
  ['receive', 'deliver', 'health'],
  ['run-event'],
  ['run-handler'],
  ['options', 'in-flight', 'store-module'],
  ['signature/', 'dead-letters/'],
  ['events/(?!call-details)'],
  ['http/', 'store/', 'port-health'],
  ['delivery'],
  ['report/', 'check-options'],
  ['errors', 'outcomes', 'sender', 'time'],
  [
    'outcome-table',
    'events/call-details',
    'queue(-jobs)?',
    'removal',
    'iso-time',
    'bag',
    'defined',
    'platform/',
  ],
];
const paths = (rooms) =>
  `^packages/core/src/(${rooms.map((room) => (/[/)]$/.test(room) ? room : `${room}\\.ts$`)).join('|')})`;

/** Which packages of this project a package imports besides itself. */
const PACKAGES = [
  ['core|contract|client|ui'],
  [
    'express|fastify|next|nest|adapters|cloudflare|redis|postgres|mysql|sqlite|opentelemetry',
    'core',
  ],
  ['testing|store-tests', 'core'],
  ['contract-tests', 'core', 'store-tests'],
  ['recovery', 'core', 'client'],
  ['simulator', 'core', 'client', 'ui'],
  ['console', 'core', 'client', 'recovery', 'ui'],
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Two files that need each other can only be understood together.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...CORE_LAYERS.slice(1).map((rooms, index) => ({
      name: 'core-layers-point-down',
      comment: 'A layer of core imports lower layers only (contributors/architecture.md).',
      severity: 'error',
      from: { path: paths(rooms) },
      to: { path: paths(CORE_LAYERS.slice(0, index + 1).flat()) },
    })),
    {
      name: 'core-file-has-a-layer',
      comment: 'Name the file in CORE_LAYERS.',
      severity: 'error',
      from: {},
      to: { path: '^packages/core/src/', pathNot: paths(CORE_LAYERS.flat()) },
    },
    {
      name: 'core-has-no-framework',
      comment: 'Core runs everywhere, and imports three libraries.',
      severity: 'error',
      from: { path: '^packages/core/src/' },
      to: {
        pathNot: '^packages/core/src/|node_modules/(lru-cache|raw-body|zod)/',
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'core-needs-no-node',
      comment: 'Only these files of core use modules of Node: others run on Workers and the edge.',
      severity: 'error',
      from: {
        path: '^packages/core/src/',
        pathNot: '^packages/core/src/(platform/node|http/node-body|node)\\.ts$',
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'client-needs-nothing',
      comment: 'The client runs in browsers as well, and imports nothing but itself.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: { pathNot: '^packages/client/src/', dependencyTypesNot: ['type-only', 'type-import'] },
    },
    {
      name: 'stores-are-written-as-by-anyone',
      comment: 'They show that core/stores has all that the author of a store or a queue needs.',
      severity: 'error',
      from: {
        path: '^packages/(redis|postgres|mysql|sqlite|cloudflare)/src/',
        // The adapter for Workers.
        pathNot: '^packages/cloudflare/src/receiver\\.ts$',
      },
      to: { path: '^packages/core/src/internal' },
    },
    ...PACKAGES.map(([packages, ...imported]) => ({
      name: 'packages-point-down',
      comment: 'Packages import few others (contributors/architecture.md).',
      severity: 'error',
      from: { path: `^packages/(${packages})/` },
      to: { path: '^packages/', pathNot: `^packages/(${['$1', ...imported].join('|')})/` },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/|generated' },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@call-webhooks/source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json', '.d.ts'],
    },
  },
};
