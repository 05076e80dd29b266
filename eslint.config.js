import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/.next/**',
      '**/coverage/**',
      '**/next-env.d.ts',
      '**/.samples/**',
      'packages/adapters/test/sveltekit/app/**', // its test checks its types
      'release/consumer/*.{ts,mts}',
      '**/*.generated.ts',
      'site/**', // by npm run check:site, when its packages are installed
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.test.json',
          './examples/*/tsconfig.json',
          './tsconfig.pages.json',
          './site/tsconfig.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      // An async method turns what it throws into a rejection, also if it awaits nothing.
      '@typescript-eslint/require-await': 'off',
      // The reason of an AbortSignal may be anything.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      '@typescript-eslint/no-invalid-void-type': ['error', { allowAsThisParameter: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Nest's modules are empty classes with a decorator, and its options are declared as classes.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // `{}` is what a generic without extra events defaults to.
      '@typescript-eslint/no-empty-object-type': 'off',
      // Blank lines and comments count as well.
      'max-lines': ['error', { max: 400 }],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration[declare!=true]', message: 'Use a union of literals.' },
      ],
    },
  },
  {
    // Test code, wherever it is.
    files: ['**/test/**', 'packages/{contract-tests,store-tests}/src/**'],
    rules: {
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // The examples are tested with node:test, which waits for its tests by itself.
    files: ['examples/*/test/**'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
      ],
    },
  },
  // The packages that these import may not be installed.
  {
    files: ['**/own-packages/**/*.ts', 'examples/next/**/*.{ts,tsx}'],
    ...tseslint.configs.disableTypeChecked,
  },
  { files: ['**/*.{js,mjs,cjs}'], ...tseslint.configs.disableTypeChecked },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        Buffer: 'readonly',
        TextEncoder: 'readonly',
        require: 'readonly',
        module: 'readonly',
        __dirname: 'readonly',
        URL: 'readonly',
        Response: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off', 'no-control-regex': 'off' },
  },
);
