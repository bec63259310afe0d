"""Where playouts are played: one object for each kind of device."""
