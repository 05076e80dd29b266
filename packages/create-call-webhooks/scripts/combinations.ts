import {
  FRAMEWORKS,
  LANGUAGES,
  STORES,
  type Framework,
  type Language,
  type Store,
} from '../src/choices.ts';

/** One kind of app. */
export interface Combination {
  /** Of its folder. */
  readonly name: string;
  readonly framework: Framework;
  readonly store: Store;
  readonly language: Language;
}

/** Every framework with every store, in both languages. */
export const COMBINATIONS: readonly Combination[] = FRAMEWORKS.flatMap((framework) =>
  STORES.flatMap((store) =>
    LANGUAGES.map((language) => ({
      name: `${framework}-${store}-${language}`,
      framework,
      store,
      language,
    })),
  ),
);

/** Of Next's apps, these are built in CI: a build takes ten times as long as everything else. */
export const BUILT_IN_CI = new Set(['next-postgres-typescript', 'next-memory-javascript']);
