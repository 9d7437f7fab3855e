/** The build and the tests load a text file as a module whose default export is its text. */
declare module "*.txt" {
  const text: string;
  export default text;
}
