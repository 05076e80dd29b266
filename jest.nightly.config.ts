/**
 * `npm run test:nightly`. Loaded as jest.config.ts is.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';
import unitTests from './jest.config.ts';

const config: Config = {
  ...unitTests,
  testMatch: ['**/test/**/*.nightly.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // Some install and build a framework.
  testTimeout: 900_000,
};

export default config;
