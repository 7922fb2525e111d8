// A work-item computes element by element: it loads vectors and computes on their elements.

#define LOADED VECTOR_OF(ELEMENT)
#define LOAD(source, index) load_vector(source, index)
#define ACCUMULATES_BATCHES 0
