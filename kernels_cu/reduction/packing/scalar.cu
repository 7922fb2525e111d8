// A work-item computes element by element: it loads vectors and keeps a lane for each of their elements.

#define LOADED VECTOR_OF(ELEMENT)
#define LOAD(source, index) load_vector(source, index)
#define LANES VECTOR_WIDTH
