/**
 * `npm run check:hosts`. Loaded as jest.config.ts is.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';
import unitTests from './jest.config.ts';

const { testMatch: _all, ...shared } = unitTests;

const config: Config = {
  ...shared,
  testRegex: '\\.host\\.ts$',
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  // Each installs and builds a framework.
  testTimeout: 900_000,
};

export default config;
