declare const expect: typeof import('expect').expect;
export = expect;
