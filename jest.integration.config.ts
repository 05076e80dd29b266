/**
 * `npm run test:integration`. Loaded as jest.config.ts is.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';
import unitTests, { INTEGRATION_TESTS } from './jest.config.ts';

const { testMatch: _all, ...shared } = unitTests;

const config: Config = {
  ...shared,
  testRegex: INTEGRATION_TESTS,
  testPathIgnorePatterns: ['/node_modules/'],
};

export default config;
