/**
 * `npm run typecheck` checks this file: the loader need not, which would take two seconds of each run.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  testEnvironmentOptions: {
    customExportConditions: ['@call-webhooks/source', 'node', 'node-addons'],
  },
  roots: ['<rootDir>/packages', '<rootDir>/examples', '<rootDir>/docs'],
  testMatch: ['**/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/', '/\\.next/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.tsx?$': ['ts-jest', { useESM: true, tsconfig: '<rootDir>/tsconfig.test.json' }],
  },
  // Jest leaves one core free by itself, which is half of a small machine.
  maxWorkers: '100%',
  // Deadlocks are caught; a busy machine is not a failure.
  testTimeout: 30_000,
  coverageProvider: 'v8',
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
};

export default config;
