/**
 * `npm run typecheck` checks this file. The loader does not, which saves two seconds in each run.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';

/** The unit and contract tests. They need nothing but Node. */
const config: Config = {
  testSequencer: '<rootDir>/scripts/test-sequencer.mjs',
  reporters: ['default', '<rootDir>/scripts/leak-reporter.mjs'],
  testEnvironment: '<rootDir>/scripts/test-environment.mjs',
  testEnvironmentOptions: {
    customExportConditions: ['@call-webhooks/source', 'node', 'node-addons'],
  },
  // Examples have tests of their own, for those who copy them: examples/test runs these.
  roots: ['<rootDir>/packages', '<rootDir>/examples/test', '<rootDir>/docs'],
  // What a sample of the docs writes is run by the test of that sample.
  testMatch: ['**/test/**/*.test.ts', '!**/.samples/**'],
  // jest.integration.config.ts and jest.nightly.config.ts run these.
  testPathIgnorePatterns: [
    '/node_modules/',
    '/\\.samples/', // written and run by the tests of the docs
    '\\.integration\\.test\\.ts$',
    '\\.nightly\\.test\\.ts$',
  ],
  modulePathIgnorePatterns: ['/dist/', '/\\.next/'],
  // Next is installed by the nightly tests that build an app.
  moduleNameMapper: { '^next/server\\.js$': '<rootDir>/packages/next/test/next-server.ts' },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.tsx?$': ['ts-jest', { useESM: true, tsconfig: '<rootDir>/tsconfig.test.json' }],
  },
  // By default, Jest leaves one core free, which is half of a small machine.
  maxWorkers: '100%',
  // Modules of ended test files are never freed: workers are replaced before they fill up.
  workerIdleMemoryLimit: '1500MB',
  // Long enough for a busy machine; only a deadlock takes longer.
  testTimeout: 120_000,
  // After hundreds of test files a worker takes a second or more to free its memory. Jest would report
  // that as a leak after half a second; an open handle still is one.
  workerGracefulExitTimeout: 20_000,
  coverageProvider: 'v8',
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
};

export default config;
