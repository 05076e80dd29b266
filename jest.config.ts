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
  // Deadlocks are caught; a busy machine is not a failure.
  testTimeout: 30_000,
  coverageProvider: 'v8',
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
};

export default config;
