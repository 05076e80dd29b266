// Required, since Bun finds nothing in the ES module of this library.
module.exports = require('expect').expect;
