/**
 * Thrown when an expression reads an absent cell. One object for all: making an error costs more than evaluating most
 * expressions. Because `||` and `&&` of the language pass over an error on one side when the other side decides, this
 * gives exactly SQL's logic of three values.
 */
class NullTouched extends Error {
  override name = 'NullTouched';
}

export const nullTouched = new NullTouched('a null was read');
